"""Programs to read and to run; each begins with what it shows and how it is started."""

"""``python -m pipeline`` is the command ``dispatchable``."""

from pipeline.start import main

if __name__ == "__main__":
    main()

"""Time and memory, against peers, bars and earlier versions."""

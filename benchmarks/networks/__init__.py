"""Network inference and connectome inference: accuracy, time and memory."""

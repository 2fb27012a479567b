"""`duramen select`: features found with only some of them in memory."""

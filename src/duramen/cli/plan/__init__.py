"""`duramen plan`: advice on the search for relevant features where memory is limited."""

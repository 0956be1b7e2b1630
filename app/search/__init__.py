"""Finding texts by words and by meaning; knows no articles and no tickets."""

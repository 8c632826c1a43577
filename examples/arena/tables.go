package main

import _ "embed" // the tables

// learned are compression tables trained on a match of this game: see -learn.
//
//go:embed tables.bin
var learned []byte

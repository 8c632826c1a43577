package main

import _ "embed" // the tables

// learned are tables that a match of this game taught: see -learn.
//
//go:embed tables.bin
var learned []byte

// Package play has what a match of the fighter needs besides its rules: the relay, the players' peers, and
// the network between them. The program in the terminal and the one with a window share it.
package play

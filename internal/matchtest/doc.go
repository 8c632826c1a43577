// Package matchtest tests whole matches: what both ends, their transports and their programs do
// together, by exported names alone.
package matchtest

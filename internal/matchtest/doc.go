// Package matchtest tests whole matches: what both ends, their transports and their programs do
// together. It uses exported names only.
package matchtest

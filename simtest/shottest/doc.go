// Package shottest plays matches of shooters, honest ones and liars, and compares what each
// saw with what the server judges its shots by.
package shottest

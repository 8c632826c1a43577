// Package methods tests the methods of the root that need a newer Go than go.mod asks for.
package methods

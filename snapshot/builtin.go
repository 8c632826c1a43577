package snapshot

//go:generate go run ./internal/train learned.go

// builtin returns the probabilities that hold where none were learned.
func builtin() *probabilities {
	p := learned
	return (*probabilities)(&p)
}

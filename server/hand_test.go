package server

// hand is a command.
type hand struct {
	X float32 `net:"min=-1,max=1,step=0.0078125"`
}

package snapshot

// audience is who a vector of words is for.
type audience uint8

const (
	audiencePublic audience = iota
	audienceOwner
	audiences
)

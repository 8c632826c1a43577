package stats

// Count is one counter of an endpoint. It has the fields of transport.Count.
type Count struct {
	Part  string // the part of a joined endpoint, by its name in package multi; empty without one
	Layer string // the package that counts, such as "udp"
	// Name says what is counted, in small letters, such as "bad_cookie". For refused peers it is the
	// reason, such as "forged".
	Name string
	// Refusal says in words why the counted peers were refused. It is empty for counts of anything
	// else.
	Refusal string
	N       uint64 // how many
}

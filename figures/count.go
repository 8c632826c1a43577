package figures

// Count is one counter of an endpoint. It has the fields of transport.Count.
type Count struct {
	Part    string // the part of a joined endpoint, by its name in package multi; empty without one
	Layer   string // the package that counts, such as "udp"
	Name    string // what is counted, in small letters, such as "bad_cookie"; of refusals the reason, such as "forged"
	Refusal string // of refused peers: why, in words; empty: it counts something else
	N       uint64 // how many
}

package loss

// Bridge decides how many lost snapshots in a row a client's render time bridges. A quantile of the delays that were needed
// lately does not tell: where one snapshot in fifty is lost, a window of a few seconds holds one loss or none.
// So the share of lost packets decides. It is measured over far more packets, and each step is left at a much
// smaller share than it is entered at. Otherwise the delay would change back and forth where the share is
// near a step. The zero Bridge bridges none.
type Bridge struct{ lost int }

// bridges has, for each lost snapshot that is bridged, the share of lost packets from which it is, and the
// share below which it no longer is.
var bridges = [...]struct{ from, until float64 }{{0.01, 0.0025}, {0.04, 0.02}}

// Follow takes the newest share.
func (b *Bridge) Follow(share float64) {
	for b.lost < len(bridges) && share >= bridges[b.lost].from {
		b.lost++
	}
	for b.lost > 0 && share < bridges[b.lost-1].until {
		b.lost--
	}
}

// Lost returns how many lost snapshots in a row are bridged.
func (b *Bridge) Lost() int { return b.lost }

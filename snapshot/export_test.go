package snapshot

// Rooms returns the number of records of which some pieces were read.
func (r *Receiver) Rooms() int { return len(r.rooms) }

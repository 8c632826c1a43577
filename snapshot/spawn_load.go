package snapshot

// spawnLoad limits the receiver's work and memory for one snapshot: a few bits can say
// that very many values are unchanged, or as predicted.
type spawnLoad struct {
	// most is the limit for n, or 0 for the default. n counts the spawns, and words their words.
	most, n, words int
	// records counts all records, spawns among them, and all counts their words.
	records, all int
	parts        int // parts is the sum of pieceLoad over the pieces.
}

// spawnsOf returns the configured number of spawns, or the default.
func spawnsOf(most int) int {
	if most <= 0 {
		return maxSpawns
	}
	return most
}

// mostSpawns returns the most entities that a snapshot may show for the first time.
func (s *Sender) mostSpawns() int { return spawnsOf(s.cfg.Spawns) }

func (l *spawnLoad) addCandidate(c *candidate) bool {
	if l.records == maxRecords || l.records > 0 && l.all+int(c.words) > maxRead {
		return false
	}
	if !c.spawn {
		l.records, l.all = l.records+1, l.all+int(c.words)
		return true
	}
	most := spawnsOf(l.most)
	if l.n == most || (l.n > 0 && l.words+int(c.words) > maxFresh*most/maxSpawns) {
		return false
	}
	l.n++
	l.words += int(c.words)
	l.records, l.all = l.records+1, l.all+int(c.words)
	return true
}

package input

import (
	"fmt"
	"strings"
)

// nearest returns a question that names the known word most like a wrong one, or "" if no word is like
// it.
func nearest(wrong string, known []string) string {
	best, least := "", len(wrong)/2+1
	wrong = strings.ToLower(wrong)
	for _, word := range known {
		if d := distance(wrong, strings.ToLower(word)); d < least || d == least && best == "" && d <= 1 {
			best, least = word, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(": do you mean %q?", best)
}

// distance returns how many letters to insert, remove, replace, or swap with their neighbour turn a
// into b.
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 64
	}
	var rows [3][65]int
	for j := range len(b) + 1 {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		row, above, twice := &rows[i%3], &rows[(i+2)%3], &rows[(i+1)%3]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], twice[j-2]+1)
			}
		}
	}
	return rows[len(a)%3][len(b)]
}

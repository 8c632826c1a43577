package snapshot

import "github.com/foretick/foretick/internal/coder"

// Statistics counts coded values, to learn tables from a recorded match. Set it in
// [SenderConfig].Statistics, play the match, and call [Statistics.Tables]. Motion is
// learned relative to the tables in use: to improve the result a little, play the match
// once more with the learned tables and fresh Statistics. The zero value is empty. It
// belongs to one goroutine, and takes half a megabyte.
type Statistics struct{ counts coder.Tally }

// Tables returns the tables that code the counted values most cheaply, as bytes for
// [schema.Registry.UseTables]. Codes for rare cases stay near the built-in tables.
func (s *Statistics) Tables() []byte { return s.counts.Tables() }

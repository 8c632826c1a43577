package rewind

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The keyframes of a claim are the delivered snapshots around it, as far as the
// server knew of them when the command came.
func TestDeliveriesAround(t *testing.T) {
	var d deliveries
	_, _, ok := d.deliveredAround(10, 3, 1<<40, 0, 0)
	require.False(t, ok, "no connection yet")
	d.resetDeliveries(30)
	_, _, ok = d.deliveredAround(10, 3, 1<<40, 0, 0)
	require.False(t, ok, "nothing delivered yet")
	for _, tick := range []Tick{9, 12, 18, 21} {
		d.putWhole(delivery{tick: tick, at: int64(tick)*256 + 100}, 3)
	}
	d.putWhole(delivery{tick: 15, at: 30 * 256}, 3) // overtaken by the one after it
	const late = 40 * 256
	for _, row := range []struct {
		at   Tick
		by   int64
		a, b Tick
		ok   bool
	}{
		{9, late, 9, 12, true},
		{11, late, 9, 12, true},
		{13, late, 12, 15, true},
		{13, 22 * 256, 12, 18, true}, // its client had not got 15 when it drew
		{16, 22 * 256, 12, 18, true},
		{16, late, 15, 18, true},
		{19, late, 18, 21, true},
		{22, late, 21, 21, true}, // nothing newer: the frame stood still
		{200, late, 21, 21, true},
		{500, late, 0, 0, false}, // longer ago than is remembered
		{8, late, 0, 0, false},
		{0, late, 0, 0, false},
		{11, 9 * 256, 0, 0, false},
	} {
		a, b, ok := d.deliveredAround(row.at, 3, row.by, 0, 0)
		require.Equal(t, row.ok, ok, row)
		if ok {
			require.Equal(t, [2]Tick{row.a, row.b}, [2]Tick{a, b}, row)
		}
	}
	d.resetDeliveries(30)
	_, _, ok = d.deliveredAround(13, 3, late, 0, 0)
	require.False(t, ok, "a new connection begins with nothing")
}

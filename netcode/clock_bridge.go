package netcode

// SetLoss takes the share of the server's packets that the path loses, as [Conn.LossIn] returns it. Call it
// before Snapshot. From 1 % on render time trails by one snapshot more, so that one lost snapshot stops nothing
// on the screen. From 4 % on it trails by two. A share that ClockConfig.SnapshotLateShare allows to be late does
// not count. Without a call nothing is bridged but what the arrival of snapshots shows.
func (c *Clock) SetLoss(share float64) { c.bridge.Follow(share - c.cfg.SnapshotLateShare) }

// behind returns how far render time should trail local time. It covers the
// worst recent need, but stays within one jump of what is needed now. Otherwise
// a queue that was long at the join, and has drained since, would delay the
// view for the length of the window. Where packets are lost, it also covers a snapshot that comes late after
// as many lost ones as are bridged.
func (c *Clock) behind() float64 {
	least := c.arrival.mean() + c.cfg.SnapshotBuffer.Seconds()*c.rate
	if c.need.len() < 4 {
		return max(least, c.arrival.mean()+float64(c.cfg.SnapshotInterval*c.cfg.StartBuffer)-1)
	}
	covered := 1 - max(leastSnapshotLateShare, c.cfg.SnapshotLateShare)
	behind := min(c.need.quantile(covered), c.need.recent()+c.apart())
	if n := c.bridge.Lost(); n > 0 {
		behind = max(behind, c.arrival.quantile(covered)+float64((1+n)*c.cfg.SnapshotInterval))
	}
	return max(least, behind)
}

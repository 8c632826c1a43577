package flight

// Flush writes what was recorded since the last time, as a Folder does once a second.
func Flush(r *Recorder) (int64, error) {
	n, _, err := r.flushNew()
	return n, err
}

package flight

// Flush writes the records since the last call, as a Folder does once a second.
func Flush(r *Recorder) (int64, error) {
	n, _, err := r.flushNew()
	return n, err
}

package transport

// Wrapper is an Endpoint around another one. Every endpoint that is given another one implements it.
// Those that join several do not.
type Wrapper interface {
	Endpoint

	// Unwrap returns the endpoint inside; nil when there is none. Do not call its Recv or Close.
	Unwrap() Endpoint
}

// As returns e if e is a T, or else the first endpoint inside e that is one. It unwraps one [Wrapper]
// after another. T is an optional interface such as [BanList] or [Limited], or the type of an endpoint,
// such as *udp.Endpoint inside a *dtls.Endpoint. As returns false if none of them is a T.
//
// A wrapper that changes what T says implements T itself. The PeerIDs of the endpoint inside may differ
// from the wrapper's.
func As[T any](e Endpoint) (T, bool) {
	for e != nil {
		if t, ok := e.(T); ok {
			return t, true
		}
		w, ok := e.(Wrapper)
		if !ok {
			break
		}
		e = w.Unwrap()
	}
	var none T
	return none, false
}

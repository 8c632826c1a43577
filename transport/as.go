package transport

// Wrapper is an Endpoint around another one. Every endpoint that is given another one implements it.
// Those that join several do not.
type Wrapper interface {
	Endpoint

	// Unwrap returns the endpoint inside; nil when there is none. Do not call its Recv or Close.
	Unwrap() Endpoint
}

// As returns the first of e, what e wraps, what that wraps and so on that is a T. T is an optional
// interface such as [BanList] or [Limited], or the type of an endpoint, such as *udp.Endpoint inside
// a *dtls.Endpoint. It returns false when none of them is a T.
//
// A wrapper that changes what T says implements T itself. PeerIDs of what a wrapper wraps may differ from its own.
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

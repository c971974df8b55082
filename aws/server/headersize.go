package server

import "net/http"

// HeaderSize returns the size of a request's header section in bytes: every header with its colon, space and end of
// line.
func HeaderSize(r *http.Request) int {
	const around = len(": \r\n")
	size := len("Host") + len(r.Host) + around
	for name, values := range r.Header {
		for _, value := range values {
			size += len(name) + len(value) + around
		}
	}
	return size
}

// tooLongHeader reports whether a request has a longer request line and header section than the service accepts.
func (s *Service) tooLongHeader(r *http.Request) bool {
	return s.cfg.MostHeader > 0 && len(r.Method)+len(r.RequestURI)+HeaderSize(r) > s.cfg.MostHeader
}

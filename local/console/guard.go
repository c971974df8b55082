package console

import (
	"crypto/subtle"
	"net/http"
	"net/url"
	"strings"
)

// protect sets the headers that isolate a page: no inline code, nothing from other origins, no frames.
func protect(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "+
		"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// refusal returns why a request is refused, or "" if it is allowed. The Host header has been checked before: it is a
// name of this machine. Pages may be linked to from anywhere; other requests must come from a page of the console, or
// from a program, which sends no Sec-Fetch-Site.
func refusal(r *http.Request) string {
	const strange = "This request comes from a page of another origin."
	if origin := r.Header.Get("Origin"); origin != "" {
		if u, err := url.Parse(origin); err != nil || !strings.EqualFold(u.Host, r.Host) {
			return strange
		}
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return ""
	}
	if r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" &&
		r.Header.Get("Sec-Fetch-Dest") == "document" {
		return ""
	}
	return strange
}

// maxForm is the most bytes of a form: a definition of 1 MiB, with a margin for its escapes.
const maxForm = 4 << 20

// checked accepts only forms that this console has written, and none if it is read-only.
func (c *Console) checked(do http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if c.cfg.ReadOnly {
			http.Error(w, "This console is read-only (--console read-only).", http.StatusForbidden)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		if err := r.ParseForm(); err != nil {
			http.Error(w, "This form cannot be read: "+err.Error(), http.StatusBadRequest)
			return
		}
		given := r.PostForm.Get("token")
		if subtle.ConstantTimeCompare([]byte(given), []byte(c.token)) != 1 {
			http.Error(w, "This page comes from an earlier run of stepback or from another server. Reload it and try again.",
				http.StatusForbidden)
			return
		}
		do(w, r)
	}
}

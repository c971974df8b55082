package httpevent

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// CORS determines the origins that may send cross-origin requests, and the requests that they may send.
type CORS struct {
	AllowCredentials                                        bool     `json:",omitempty"`
	AllowHeaders, AllowMethods, AllowOrigins, ExposeHeaders []string `json:",omitempty"`
	MaxAge                                                  int      `json:",omitempty"` // in seconds
}

// Preflight reports whether a request is a CORS preflight request.
func Preflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Origin") != "" &&
		r.Header.Get("Access-Control-Request-Method") != ""
}

// Allow adds the CORS headers for the request's origin to the response, or none if the origin is not allowed.
func (c *CORS) Allow(w http.ResponseWriter, r *http.Request) {
	origin := r.Header.Get("Origin")
	any := slices.Contains(c.AllowOrigins, "*")
	if origin == "" || !any && !slices.Contains(c.AllowOrigins, origin) {
		return
	}
	h := w.Header()
	if any && !c.AllowCredentials {
		origin = "*"
	} else {
		h.Add("Vary", "Origin")
	}
	h.Set("Access-Control-Allow-Origin", origin)
	if c.AllowCredentials {
		h.Set("Access-Control-Allow-Credentials", "true")
	}
	list := func(name string, values []string) {
		if len(values) > 0 {
			h.Set(name, strings.Join(values, ","))
		}
	}
	list("Access-Control-Expose-Headers", c.ExposeHeaders)
	if Preflight(r) {
		list("Access-Control-Allow-Methods", c.AllowMethods)
		list("Access-Control-Allow-Headers", c.AllowHeaders)
		if c.MaxAge > 0 {
			h.Set("Access-Control-Max-Age", strconv.Itoa(c.MaxAge))
		}
	}
}

package deadline_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"stepback/adaptive/deadline"
)

func TestHandler(t *testing.T) {
	t.Parallel()
	for value, c := range map[string]struct {
		status int
		left   time.Duration // 0: no deadline
	}{
		"":                        {200, 0},
		"1500":                    {200, 1250 * time.Millisecond},
		"251":                     {200, time.Millisecond},
		"250":                     {504, 0},
		"0":                       {504, 0},
		"soon":                    {200, 0},
		"-5":                      {200, 0},
		"99999999999999999999999": {200, 0},
		"9223372036854775807":     {200, 365*24*time.Hour - 250*time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			var left time.Duration
			called := false
			h := deadline.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				called = true
				left, _ = deadline.Left(r.Context(), time.Now(), 0)
			}), deadline.Margin)
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
			if value != "" {
				r.Header.Set(deadline.Header, value)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != c.status || left != c.left || called != (c.status == 200) {
				t.Errorf("%q: status %d with %s left, want %d with %s", value, w.Code, left, c.status, c.left)
			}
		})
	}
}

func TestSetHeader(t *testing.T) {
	t.Parallel()
	for left, want := range map[time.Duration]string{
		time.Second: "1000", 1999 * time.Microsecond: "1", time.Microsecond: "0", -time.Second: "0",
	} {
		ctx, cancel := context.WithDeadline(t.Context(), noon.Add(left))
		h := http.Header{}
		deadline.SetHeader(h, ctx, noon)
		if got := h.Get(deadline.Header); got != want {
			t.Errorf("%s left: %q, want %q", left, got, want)
		}
		cancel()
	}
	h := http.Header{}
	if deadline.SetHeader(h, t.Context(), noon); len(h) > 0 {
		t.Errorf("%v is set without a deadline", h)
	}
}

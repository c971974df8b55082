package idempotency_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"stepback/resilience/idempotency"
	"stepback/resilience/idempotency/sqlitestore"
)

func ExampleGuard_Middleware() {
	dir, err := os.MkdirTemp("", "idempotency")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	store, err := sqlitestore.Open(context.Background(), filepath.Join(dir, "keys.db"), sqlitestore.Full)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	guard, err := idempotency.New(store, idempotency.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	orders := 0
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		orders++
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, "order %d", orders)
	})
	shop := guard.Middleware(idempotency.HTTP{Required: true})(handler)
	for _, order := range []string{"tea", "tea", "coffee"} {
		r := httptest.NewRequest(http.MethodPost, "/orders", strings.NewReader(order))
		r.Header.Set("Idempotency-Key", `"8e03978e-40d5-43e8-bc93-6894a57f9324"`)
		w := httptest.NewRecorder()
		shop.ServeHTTP(w, r)
		fmt.Println(w.Code, w.Header().Get("Idempotency-Replayed"), strings.TrimSpace(w.Body.String()))
	}
	// Output:
	// 201  order 1
	// 201 true order 1
	// 422  {"detail":"This Idempotency-Key was used for another request: use a new one.","status":422,"title":"Unprocessable Entity"}
}

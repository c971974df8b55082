//go:build !js

// Command asl-wasm is the WebAssembly module of the npm package @stepback/asl. Build it with GOOS=js GOARCH=wasm; make
// release does.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "asl-wasm: build this program with GOOS=js GOARCH=wasm; npm's package @stepback/asl loads it")
	os.Exit(2)
}

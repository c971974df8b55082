package main

import (
	"errors"
	"runtime/debug"
	"syscall/js"

	"stepback/aws"
	"stepback/cmd/asl-wasm/library"
)

// main gives the function call to the object that the JavaScript part passes as its global object, and then waits for
// calls until the instance is dropped.
func main() {
	debug.SetGCPercent(400) // WebAssembly has one thread: a collection stops the caller
	js.Global().Set("stepbackCall", js.FuncOf(func(_ js.Value, args []js.Value) any {
		result, err := library.Call(args[0].String(), args[1].String(), args[2].String())
		var refused *aws.Error
		switch {
		case errors.As(err, &refused):
			return map[string]any{"error": refused.Message, "code": refused.Code}
		case err != nil:
			return map[string]any{"error": err.Error()}
		}
		return map[string]any{"result": result}
	}))
	select {}
}

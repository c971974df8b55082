package main

import (
	"fmt"
	"os"

	"stepback/asl"
	"stepback/engine"
)

type validateCmd struct {
	Files   []string `arg:"" type:"existingfile" help:"State machine definitions (Amazon States Language, JSON)."`
	Express bool     `help:"Check as a state machine of type EXPRESS."`
}

// Help shows an example.
func (validateCmd) Help() string {
	return "Example:\n  stepback validate statemachine.asl.json\n\nExit status 3 when a definition would be refused."
}

// Run prints what is wrong with each definition, with the line and a caret.
func (c *validateCmd) Run(std streams) error {
	refused := 0
	for _, name := range c.Files {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		diagnostics := engine.Validate(string(text), c.Express)
		if len(diagnostics) > 0 {
			fmt.Fprint(std.out, asl.Render(diagnostics, string(text), name))
		}
		if asl.HasErrors(diagnostics) {
			refused++
			continue
		}
		fmt.Fprintf(std.out, "%s: accepted\n", name)
	}
	if refused > 0 {
		return &exitError{code: exitData}
	}
	return nil
}

package main

import (
	"context"
	"fmt"
	"os"

	"stepback/retrylab/scenarios"
	"stepback/retrylab/simulation"
)

func main() {
	s, _ := scenarios.Open(os.Args[1])
	p, err := scenarios.OpenPolicy(os.Args[2])
	if err != nil {
		panic(err)
	}
	r, _ := simulation.Run(context.Background(), simulation.Config{Scenario: s, Policy: p, Seed: 1})
	for i, b := range r.Bins {
		if i > 60 && i < 130 {
			fmt.Println(i*10, b)
		}
	}
	fmt.Println(r.Changes)
}

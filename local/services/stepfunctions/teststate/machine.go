package teststate

import (
	"stepback/jsonvalue"
)

// loneState is the name that the service gives to a state tested without its state machine.
const loneState = "StateName"

// machineAround returns the smallest state machine that contains the state and all states it can transition to.
func machineAround(state jsonvalue.Value) string {
	states, succeed, machine := jsonvalue.NewObject(1), jsonvalue.NewObject(1), jsonvalue.NewObject(1)
	succeed.Set("Type", jsonvalue.OfString("Succeed"))
	states.Set(loneState, state)
	for _, name := range targets(state) {
		if name != loneState {
			states.Set(name, succeed.Value())
		}
	}
	machine.Set("StartAt", jsonvalue.OfString(loneState))
	machine.Set("States", states.Value())
	return machine.Value().JSON()
}

// targets returns the names of the states that a state can transition to.
func targets(state jsonvalue.Value) []string {
	var names []string
	add := func(v jsonvalue.Value, field string) {
		if to, ok := v.Get(field); ok && to.Kind() == jsonvalue.String {
			names = append(names, to.Text())
		}
	}
	add(state, "Next")
	add(state, "Default")
	for _, field := range []string{"Choices", "Catch"} {
		list, _ := state.Get(field)
		for _, element := range list.Elements() {
			if element.Kind() == jsonvalue.Object {
				add(element, "Next")
			}
		}
	}
	return names
}

package markup

import (
	"fmt"
	"reflect"
	"slices"
	"text/template/parse"
)

// pipeline returns the value of a pipeline, and assigns it to the pipeline's variables.
func (x *execution) pipeline(dot reflect.Value, pipe *parse.PipeNode) (v reflect.Value) {
	var piped []reflect.Value
	for _, command := range pipe.Cmds {
		v = x.command(dot, command, piped)
		if v.IsValid() && v.Kind() == reflect.Interface && v.NumMethod() == 0 {
			v = v.Elem()
		}
		piped = []reflect.Value{v}
	}
	for _, declared := range pipe.Decl {
		if pipe.IsAssign {
			*x.variable(declared, declared.Ident[0]) = v
		} else {
			x.variables = append(x.variables, variable{declared.Ident[0], v})
		}
	}
	return v
}

// variable returns a pointer to a variable's value.
func (x *execution) variable(at parse.Node, name string) *reflect.Value {
	for i := range slices.Backward(x.variables) {
		if x.variables[i].name == name {
			return &x.variables[i].value
		}
	}
	x.fail(at, "variable %s %w", name, errNotThere)
	return nil
}

// command returns the value of one command of a pipeline. piped is the value of the command before it, if any.
func (x *execution) command(dot reflect.Value, c *parse.CommandNode, piped []reflect.Value) reflect.Value {
	if f, ok := c.Args[0].(*parse.IdentifierNode); ok {
		return x.function(dot, f, c.Args[1:], piped)
	}
	if len(c.Args) > 1 || len(piped) > 0 {
		x.fail(c, "%s is no function", c.Args[0])
	}
	return x.value(dot, c.Args[0])
}

// value returns the value of an operand.
func (x *execution) value(dot reflect.Value, n parse.Node) reflect.Value {
	switch n := n.(type) {
	case *parse.DotNode:
		return dot
	case *parse.FieldNode:
		return x.fields(dot, n, n.Ident)
	case *parse.VariableNode:
		return x.fields(*x.variable(n, n.Ident[0]), n, n.Ident[1:])
	case *parse.ChainNode:
		return x.fields(x.value(dot, n.Node), n, n.Field)
	case *parse.PipeNode:
		return x.pipeline(dot, n)
	case *parse.IdentifierNode:
		return x.function(dot, n, nil, nil)
	case *parse.BoolNode:
		return reflect.ValueOf(n.True)
	case *parse.StringNode:
		return reflect.ValueOf(n.Text)
	case *parse.NumberNode:
		if n.IsInt {
			return reflect.ValueOf(int(n.Int64))
		}
		return reflect.ValueOf(n.Float64)
	}
	x.fail(n, "%s is no value", n)
	return reflect.Value{}
}

// fields returns the value at a path of fields and map entries.
func (x *execution) fields(v reflect.Value, at parse.Node, path []string) reflect.Value {
	for _, name := range path {
		v = x.field(v, at, name)
	}
	return v
}

func (x *execution) field(v reflect.Value, at parse.Node, name string) reflect.Value {
	of, isNil := indirect(v)
	switch {
	case isNil, !of.IsValid():
		x.fail(at, "nothing is there to have a %s", name)
	case of.Kind() == reflect.Map:
		value := of.MapIndex(reflect.ValueOf(name).Convert(of.Type().Key()))
		if !value.IsValid() {
			value = reflect.Zero(of.Type().Elem())
		}
		return value
	case of.Kind() == reflect.Struct:
		if f, ok := of.Type().FieldByName(name); ok && f.IsExported() {
			value, err := of.FieldByIndexErr(f.Index)
			if err != nil {
				x.fail(at, "%w", err)
			}
			return value
		}
	}
	x.fail(at, "a %s has no field %s, and methods are not called", of.Type(), name)
	return reflect.Value{}
}

// indirect follows pointers and interfaces.
func indirect(v reflect.Value) (to reflect.Value, isNil bool) {
	for v.IsValid() && (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) {
		if v.IsNil() {
			return v, true
		}
		v = v.Elem()
	}
	return v, false
}

// function calls a function. The functions and and or evaluate only as many operands as they need.
func (x *execution) function(dot reflect.Value, f *parse.IdentifierNode, operands []parse.Node, piped []reflect.Value) reflect.Value {
	if f.Ident == "and" || f.Ident == "or" {
		var v reflect.Value
		for _, n := range operands {
			if v = x.value(dot, n); truth(v) == (f.Ident == "or") {
				return v
			}
		}
		if len(piped) > 0 {
			v = piped[0]
		}
		return v
	}
	args := make([]reflect.Value, 0, len(operands)+len(piped))
	for _, n := range operands {
		args = append(args, x.value(dot, n))
	}
	args = append(args, piped...)
	call := x.set.functions[f.Ident]
	of := call.Type()
	if n := of.NumIn(); len(args) < n-1 || len(args) < n && !of.IsVariadic() || len(args) > n && !of.IsVariadic() {
		x.fail(f, "%s takes %d values, not %d", f.Ident, n, len(args))
	}
	for i := range args {
		wanted := of.In(min(i, of.NumIn()-1))
		if of.IsVariadic() && i >= of.NumIn()-1 {
			wanted = wanted.Elem()
		}
		args[i] = x.fit(f, args[i], wanted)
	}
	out, err := x.call(call, args)
	if err != nil {
		x.fail(f, "%s: %w", f.Ident, err)
	}
	return out
}

// call calls a function and returns its panics as errors.
func (x *execution) call(f reflect.Value, args []reflect.Value) (v reflect.Value, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	out := f.Call(args)
	if len(out) == 2 {
		err, _ = out[1].Interface().(error)
	}
	return out[0], err
}

// fit converts a value to the parameter type of a function.
func (x *execution) fit(at parse.Node, v reflect.Value, wanted reflect.Type) reflect.Value {
	if !v.IsValid() {
		if wanted.Kind() == reflect.Interface || wanted.Kind() == reflect.Pointer {
			return reflect.Zero(wanted)
		}
		x.fail(at, "nothing is there for a %s", wanted)
	}
	if v.Type().AssignableTo(wanted) {
		return v
	}
	if of, isNil := indirect(v); !isNil {
		switch isNumber := wanted.Kind() >= reflect.Int && wanted.Kind() <= reflect.Float64; {
		case of.Type().AssignableTo(wanted):
			return of
		case isNumber && of.Type() == reflect.TypeFor[int](): // numbers in templates are int
			return of.Convert(wanted)
		case of.CanAddr() && of.Addr().Type().AssignableTo(wanted):
			return of.Addr()
		}
	}
	x.fail(at, "a %s is no %s", v.Type(), wanted)
	return reflect.Value{}
}

// Package wings contains only tests: they check the order of the repository's top-level folders, and the pages that
// show it.
package wings

//go:generate go test . -run TestTablesAreCurrent -update

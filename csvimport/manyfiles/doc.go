// Package manyfiles implements the import of many files as one: the steps ListFiles and SumFiles of
// statemachine.FilesDefinition, and the rules for which objects or files such an import takes.
//
// It imports no file itself and starts nothing: the state machine starts an import for each listed file.
package manyfiles

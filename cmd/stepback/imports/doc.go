// Package imports implements the verbs of the CSV import: run and its report, sample files, rehearsals of failures,
// and the export of the database's contents.
package imports

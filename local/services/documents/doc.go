// Package documents stores the durable data of services: values under keys, in one store per directory. The store is
// created with the first change, so an unused service costs nothing. A Table is the part of a store that belongs to
// one service. Changes are made in batches: Apply makes a batch visible, and the function that it returns waits until
// the batch is on disk, together with those of other callers. What is acknowledged after that survives kill -9.
//
// The package knows neither services nor the format of values. A write that finds the disk full waits for space, if the
// store is opened with a diskspace.Space. After any other failure of a write, the store rejects everything until it is
// opened again, and calls Disk.Broken.
package documents

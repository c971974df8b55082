// Package documents keeps what services must not forget: values under keys, in one store of a directory. The store is
// made with the first change, so that a service that nobody uses costs nothing. A Table is the part of a store that
// belongs to one service. Changes are made in batches: Apply has a batch take effect, and what it returns waits until
// the batch is on the disk, together with those of other callers. What has been acknowledged after that is there after
// kill -9.
//
// It knows no service and no format of a value, and it retries nothing: after the disk has refused a write the store
// refuses everything until it is opened again.
package documents

// Package insights parses and runs queries in the language of CloudWatch Logs Insights: the commands fields, display,
// filter, stats, sort, limit, parse and dedup, separated by |. Anything unsupported is rejected with its name and
// position. It is pure: it reads no logs and no clock.
//
// A value is a text, a number or absent. Texts that are numbers compare as numbers. Fields that no command has
// defined come from the event (@timestamp, @message, @logStream, @log, @ingestionTime, @ptr), from Lambda's report
// lines (@requestId, @type, @duration, @billedDuration, @initDuration, @memorySize, @maxMemoryUsed), or from members
// of JSON messages, with dots: detail.items.0.name.
package insights

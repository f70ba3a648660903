// Command kube-apiserver is the upstream kube-apiserver, built as a Go module dependency.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"

	// CronJob's spec.timeZone is validated against this table, also on machines without tzdata.
	_ "time/tzdata"
)

func main() {
	os.Exit(cli.Run(app.NewAPIServerCommand()))
}

// Command kube-controller-manager is the upstream kube-controller-manager, built as a Go module dependency.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app"

	// The CronJob controller resolves spec.timeZone, also on machines without tzdata.
	_ "time/tzdata"
)

func main() {
	os.Exit(cli.Run(app.NewControllerManagerCommand()))
}

// Serves a defaulter and a validator of Pods with controller-runtime until its standard input ends.
// Usage: webhook <port> <directory of tls.crt and tls.key>
package main

import (
	"context"
	"errors"
	"io"
	"os"
	"strconv"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

type pods struct{}

func (pods) Default(_ context.Context, pod *corev1.Pod) error {
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	pod.Annotations["bench.kctl.dev/defaulted"] = "true"
	return nil
}

func (pods) ValidateCreate(_ context.Context, pod *corev1.Pod) (admission.Warnings, error) {
	if len(pod.Spec.Containers) == 0 {
		return nil, errors.New("a pod needs a container")
	}
	return nil, nil
}

func (pods) ValidateUpdate(_ context.Context, _, _ *corev1.Pod) (admission.Warnings, error) {
	return nil, nil
}

func (pods) ValidateDelete(_ context.Context, _ *corev1.Pod) (admission.Warnings, error) {
	return nil, nil
}

func main() {
	log.SetLogger(logr.Discard())
	port, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		panic(err)
	}
	server := webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: port, CertDir: os.Args[2]})
	server.Register("/default", admission.WithDefaulter[*corev1.Pod](scheme, pods{}))
	server.Register("/validate", admission.WithValidator[*corev1.Pod](scheme, pods{}))
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	if err := server.Start(ctx); err != nil {
		panic(err)
	}
}

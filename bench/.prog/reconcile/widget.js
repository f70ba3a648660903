// The custom resource of the benchmark: about 1 KB each.
import { defineKind } from '@kctl/runtime';
                                                

                         
                      
                
                       
                                                                                            
 

export const Widget = defineKind        ()({
  group: 'bench.kctl.dev',
  version: 'v1',
  kind: 'Widget',
  scope: 'Namespaced',
});

export const namespace = 'bench';

export function widgetName(i        )         {
  return `widget-${String(i).padStart(5, '0')}`;
}

/** The `colour` of the write that ends each part of a run; of other writes it is another one. */
export const marks = { coldEnd: 'cold-end', warmStart: 'warm-start', end: 'end' }         ;

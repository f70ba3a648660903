import { rounded } from '../harness/results.js';
                                       

/** A figure at one value of what grows. */
                           
                      
                         
 

/**
 * With which power a figure grows at the end of its curve: the slope between the last two points, both axes logarithmic.
 * The beginning says nothing, as what a process takes anyway hides what grows. Null where the last value is below what
 * the curve is looked at from: it is noise.
 */
export function exponentOf(curve       , points                     )                {
  const [before, last] = points.slice(-2);
  if (before === undefined || last === undefined || last.value < curve.from) return null;
  return Math.log(last.value / before.value) / Math.log(last.at / before.at);
}

/** What a figure may grow more than the work does: the noise of a good machine. */
const tolerance = 0.15;

/** Whether a figure grows more than the work does. */
export function isDefect(curve       , exponent               )          {
  return exponent !== null && exponent > curve.inherent + tolerance;
}

/** A curve as a row of a table: how much a figure grows where its axis is ten times as long, beside the work that has to be done. */
                            
                          
                                 
                        
                        
                                
                         
                         
                       
 

/** The row of a curve; none where it is too short to tell, or its end is noise. */
export function growthRow(
  axis        ,
  { title, inherent }                                   ,
  exponent               ,
)              {
  if (exponent === null) return [];
  const [ours, peer] = [10 ** exponent, 10 ** inherent];
  return [
    {
      figure: `${title}, by ${axis}`,
      unit: '× per tenfold',
      ours: rounded(ours),
      peer,
      peerName: 'the work',
      ratio: rounded(peer / ours),
      reach: rounded(10 ** -tolerance),
      aim: 1,
    },
  ];
}

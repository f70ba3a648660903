// The curves as a picture for the documentation: a column for each axis, a row for each figure, both axes logarithmic.
                                             
                                               
import { isDefect } from './exponents.js';

/** A curve with what was measured. */
                             
                      
                        
                                       
                                   
 

const cell = { width: 172, height: 96, gapX: 46, gapY: 34 }         ;
const margin = { left: 176, top: 58, right: 16, bottom: 30 }         ;

/** An SVG in the style of `docs/public/pictures`. Rows are the figures, in their order; columns the axes. */
export function growthPicture(curves                       )         {
  const axes = [...new Set(curves.map(({ axis }) => axis))];
  const figures = [...new Map(curves.map(({ curve }) => [curve.figure, curve])).values()];
  const width = margin.left + axes.length * (cell.width + cell.gapX) - cell.gapX + margin.right;
  const height = margin.top + figures.length * (cell.height + cell.gapY) - cell.gapY + margin.bottom;
  const x = (column        )         => margin.left + column * (cell.width + cell.gapX);
  const y = (row        )         => margin.top + row * (cell.height + cell.gapY);
  const heads = axes.flatMap((axis, column) => [
    text(x(column) + cell.width / 2, 22, 'head middle', `by ${axis.name}`),
    text(x(column) + cell.width / 2, 40, 'soft middle', axis.of),
  ]);
  const names = figures.flatMap(({ title, unit }, row) => [
    text(8, y(row) + 42, 'name', title),
    text(8, y(row) + 60, 'soft', unit),
  ]);
  const plots = curves.map((drawn) => {
    const row = figures.findIndex(({ figure }) => figure === drawn.curve.figure);
    return plot(drawn, x(axes.indexOf(drawn.axis)), y(row));
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">`,
    style,
    ...heads,
    ...names,
    ...plots,
    '</svg>',
    '',
  ].join('\n');
}

function plot({ axis, curve, points, exponent }            , left        , top        )         {
  const values = points.map(({ value }) => Math.max(value / curve.scale, 1e-3));
  const range = decades(values);
  const ats = points.map(({ at }) => at);
  const along = scale([Math.min(...ats), Math.max(...ats)], left + 6, left + cell.width - 6);
  const up = scale(range, top + cell.height - 4, top + 4);
  const line = points.map(({ at }, place) => `${round(along(at))},${round(up(values[place] ?? 1))}`);
  const marks = line.map(
    (place) => `<circle class="mark" cx="${place.split(',')[0]}" cy="${place.split(',')[1]}" r="3"/>`,
  );
  const kind = isDefect(curve, exponent) ? 'defect' : 'soft';
  const grown = exponent === null ? '' : `n${superscript(exponent)}`;
  return [
    `<g><title>${curve.title} by ${axis.name}: ${points.map(({ at }, place) => `${shown(at)}: ${shown(values[place] ?? 0)} ${curve.unit}`).join(', ')}</title>`,
    `<rect class="paper frame" x="${left}" y="${top}" width="${cell.width}" height="${cell.height}"/>`,
    text(left - 5, top + 10, 'soft end', shown(range[1])),
    text(left - 5, top + cell.height, 'soft end', shown(range[0])),
    text(left, top + cell.height + 15, 'soft', shown(ats[0] ?? 0)),
    text(left + cell.width, top + cell.height + 15, 'soft end', shown(ats.at(-1) ?? 0)),
    text(left + cell.width / 2, top + cell.height + 15, `${kind} middle`, grown),
    `<polyline class="flow" points="${line.join(' ')}"/>${marks.join('')}</g>`,
  ].join('');
}

/** Whole powers of ten around the values. */
function decades(values                   )                            {
  const low = 10 ** Math.floor(Math.log10(Math.min(...values)));
  const high = 10 ** Math.ceil(Math.log10(Math.max(...values)));
  return [low, high === low ? low * 10 : high];
}

function scale([low, high]                           , from        , to        )                            {
  const span = Math.log(high / low) || 1;
  return (value) => from + (Math.log(value / low) / span) * (to - from);
}

function shown(value        )         {
  if (value >= 1e6) return `${Number((value / 1e6).toPrecision(3))}M`;
  if (value >= 1e4) return `${Number((value / 1e3).toPrecision(3))}k`;
  return String(Number(value.toPrecision(3)));
}

function superscript(exponent        )         {
  const digits                         = {
    '-': '⁻',
    '.': '·',
    0: '⁰',
    1: '¹',
    2: '²',
    3: '³',
    4: '⁴',
    5: '⁵',
    6: '⁶',
    7: '⁷',
    8: '⁸',
    9: '⁹',
  };
  return [...exponent.toFixed(1)].map((digit) => digits[digit] ?? digit).join('');
}

function text(x        , y        , kind        , content        )         {
  return `<text x="${round(x)}" y="${round(y)}" class="${kind}">${content}</text>`;
}

const round = (value        )         => Math.round(value * 10) / 10;

const style = `  <style>
    text { font: 14px ui-sans-serif, system-ui, sans-serif; fill: #1f2933 }
    .head { font-size: 13px; font-weight: 600 }
    .name { font-size: 13px }
    .soft, .defect { font-size: 11px; fill: #52606d }
    .defect { fill: #a8410b; font-weight: 600 }
    .middle { text-anchor: middle }
    .end { text-anchor: end }
    .paper { fill: #fff }
    .frame { stroke: #7b8794; stroke-width: 1 }
    .flow { fill: none; stroke: #1d5fc4; stroke-width: 2 }
    .mark { fill: #1d5fc4 }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6e8eb }
      .soft { fill: #a9b3bd }
      .defect { fill: #f2a871 }
      .paper { fill: #1b1b1f }
      .flow { stroke: #8ab6f9 }
      .mark { fill: #8ab6f9 }
    }
  </style>`;

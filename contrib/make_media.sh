#!/bin/sh
# Make the media that `livedeck serve --hls` plays: loops of 8 s in four segments of 2 s, as fragmented MP4.
#
# Usage: contrib/make_media.sh [FOLDER]        (default: the simulator's data)
#
# Needs ffmpeg with libx264. The committed files were made by ffmpeg 5.1.9 with x264 core 164: the same versions give the
# same bytes. Another version gives other bytes of the same form, which tests/simulator/test_hls.py checks.
#
# Every picture of a rung has the same parameter sets (x264's `stitchable`), so that one init segment serves all of
# them. A key frame each second lets a probe see movement inside one segment. A still has one segment of 2 s with one key
# frame, because two key frames of the same picture differ by some levels of luma.
# A sound is cut from the middle of a longer one: 375 frames of AAC last 8 s, and no edit list is needed.
set -eu

folder=${1:-$(dirname "$0")/../src/livedeck/simulator/data/media}
mkdir -p "$folder"
rate=25
turn="2*PI*T/8"  # one turn in a loop, in geq
turn_t="2*PI*t/8"  # and in overlay

ff() {
    ffmpeg -hide_banner -loglevel error -y "$@"
}

# picture NAME GRAPH [CRF [FILTER]]: encode both rungs of a picture of 320x180, and its first frame as a still. FILTER
# comes after the scaling.
picture() {
    for height in 72 180; do
        scaled="scale=$((height * 16 / 9)):$height:flags=area${4:+,$4}"
        encode "$1" "$scaled" "$2" "${3:-30}" 8 "$rate"
        [ "$1" = black ] || encode "$1-still" "$scaled,select=eq(n\\,0),loop=-1:1,setpts=N/$rate/TB" "$2" "${3:-30}" 2 $((2 * rate))
    done
}

# encode NAME FILTERS GRAPH CRF SECONDS FRAMES: encode a picture of $height lines, with a key frame every FRAMES frames.
encode() {
    ff -f lavfi -i "$3,format=yuv420p,$2" -t "$5" -r "$rate" -an -map_metadata -1 -fflags +bitexact -flags:v +bitexact \
        -c:v libx264 -preset veryslow -profile:v main -level 2.1 -threads 1 -crf "$4" -g "$6" \
        -x264-params "bframes=0:scenecut=0:open-gop=0:stitchable=1:ref=2" -bsf:v "filter_units=remove_types=6" \
        -video_track_timescale 12800 -movflags empty_moov+default_base_moof+skip_trailer -use_editlist 0 -frag_duration 2000000 \
        -f mp4 "$folder/$1-$height.mp4"
}

# sound NAME GRAPH: 24 kbit/s, stereo.
sound() {
    ff -f lavfi -i "$2" -t 24 -ac 2 -ar 48000 -fflags +bitexact -flags:a +bitexact -c:a aac -b:a 24k "$folder/$1.m4a"
    ff -ss 8 -i "$folder/$1.m4a" -map_metadata -1 -fflags +bitexact -c copy -frames:a 375 -avoid_negative_ts make_zero \
        -movflags empty_moov+default_base_moof+skip_trailer -use_editlist 0 -frag_duration 2000000 -f mp4 "$folder/$1.mp4"
    rm "$folder/$1.m4a"
}

# box COLOUR WIDTH HEIGHT X Y: lay a box over the picture; X and Y may depend on t.
boxes=""
labels=0
graph=""
begin() {
    graph="$1[l0]"
    labels=0
}
box() {
    graph="$graph;color=$1:s=$2x$3:r=$rate[b$labels];[l$labels][b$labels]overlay=x='$4':y='$5':shortest=1[l$((labels + 1))]"
    labels=$((labels + 1))
}
end() {
    graph="$graph;[l$labels]null"
}
canvas="color=black:s=320x180:r=$rate,format=yuv444p"

# A pitch, with two teams and a ball that run in circles of one or two turns.
begin "$canvas,geq=lum='96+14*mod(floor(X/32),2)':cb=100:cr=92,drawbox=x=159:y=0:w=2:h=180:color=white@0.7:t=fill,drawbox=x=10:y=10:w=300:h=160:color=white@0.7:t=2,drawbox=x=10:y=55:w=44:h=70:color=white@0.7:t=2,drawbox=x=266:y=55:w=44:h=70:color=white@0.7:t=2"
for player in "red 60 50 40 1" "red 90 120 30 2" "red 130 80 50 1" "red 190 60 35 2" "blue 250 60 40 1" "blue 220 130 30 2" "blue 180 100 50 1" "blue 120 40 30 2"; do
    set -- $player
    box "$1" 6 12 "$2+$4*sin($5*$turn_t+$3)" "$3+$4*0.6*cos($5*$turn_t+$2)"
done
box white 5 5 "160+110*sin($turn_t)" "90+60*sin(2*$turn_t)"
end
picture pitch "$graph"

# A stage: two lights that sway over a dark red curtain, and three singers.
begin "$canvas,geq=lum='24+6*sin(X/5)+150*exp(-(pow(X-110-60*sin($turn),2)+pow(Y-100,2))/1600)+120*exp(-(pow(X-220+70*sin(2*$turn),2)+pow(Y-90,2))/1400)':cb='118-14*exp(-(pow(X-110-60*sin($turn),2)+pow(Y-100,2))/1600)':cr='150-16*exp(-(pow(X-220+70*sin(2*$turn),2)+pow(Y-90,2))/1400)',drawbox=x=0:y=150:w=320:h=30:color=0x281810:t=fill"
box 0x201010 16 60 "96+3*sin(3*$turn_t)" "92+2*cos(5*$turn_t)"
box 0x181020 16 64 "152+3*sin(2*$turn_t)" "88+2*cos(4*$turn_t)"
box 0x101018 16 58 "208+3*cos(3*$turn_t)" "94+2*sin(5*$turn_t)"
end
picture stage "$graph"

# A camera at a harbour: waves, a ship that comes and goes, and the noise of a small sensor.
begin "$canvas,geq=lum='if(lt(Y,80),170-Y/2,70+12*sin(Y/3+2*$turn)+8*sin(X/9-3*$turn+Y/5))':cb='if(lt(Y,80),140,146)':cr='if(lt(Y,80),118,112)'"
box 0x303030 60 14 "130+90*sin($turn_t)" "78+2*sin(4*$turn_t)"
box 0xb03020 18 16 "150+90*sin($turn_t)" "64+2*sin(4*$turn_t)"
end
picture harbour "$graph" 31 "noise=alls=13:allf=t:all_seed=1"

# A studio: a speaker who nods, and a line of news that runs.
begin "$canvas,geq=lum='60+50*exp(-(pow(X-160,2)+pow(Y-70,2))/9000)+6*sin(X/20+$turn)':cb='160-10*sin(X/60-$turn)':cr=110"
box 0x202840 90 70 115 100
box 0xd0a080 36 44 "142+4*sin($turn_t)" "56+3*sin(3*$turn_t)"
box 0x402010 36 10 "142+4*sin($turn_t)" "54+3*sin(3*$turn_t)"
box 0x901020 320 20 0 152
for word in "0 30" "44 50" "108 22" "144 60" "218 36" "268 40"; do
    set -- $word
    box white "$2" 6 "mod($1+320-40*t,320)" 159
done
end
picture studio "$graph"

# Two slides, 4 s each.
picture slides "color=0xf0f0e8:s=320x180:r=$rate,drawbox=x=24:y=18:w=180:h=16:color=0x203870:t=fill,drawbox=x=24:y=54:w=220:h=7:color=0x606060:t=fill,drawbox=x=24:y=74:w=190:h=7:color=0x606060:t=fill,drawbox=x=24:y=94:w=240:h=7:color=0x606060:t=fill,drawbox=x=24:y=114:w=150:h=7:color=0x606060:t=fill,drawbox=x=20:y=50:w=280:h=110:color=0xf0f0e8:t=fill:enable='gte(t,4)',drawbox=x=50:y=110:w=36:h=50:color=0x3070c0:t=fill:enable='gte(t,4)',drawbox=x=110:y=80:w=36:h=80:color=0x30a060:t=fill:enable='gte(t,4)',drawbox=x=170:y=60:w=36:h=100:color=0xc06030:t=fill:enable='gte(t,4)',drawbox=x=230:y=90:w=36:h=70:color=0x8040a0:t=fill:enable='gte(t,4)'"

picture black "color=black:s=320x180:r=$rate"

# Speech-like: a voice of 120 Hz and its overtones, in syllables of a quarter of a second and sentences of 2 s.
voice="(0.5*sin(2*PI*120*t)+0.3*sin(2*PI*240*t)+0.25*sin(2*PI*480*t)+0.15*sin(2*PI*960*t)+0.1*sin(2*PI*1920*t))*pow(sin(2*PI*2*t),2)*(0.3+0.7*gt(sin(2*PI*t/2),-0.8))*0.45"
sound speech "aevalsrc='$voice|$voice':s=48000"
sound silence "aevalsrc='0|0':s=48000"
sound left "aevalsrc='$voice|0':s=48000"

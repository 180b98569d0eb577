"""The layout of a tree's classes in a file (TStreamerInfo), which every file has so that readers of
other versions of ROOT understand it. The bytes are those that ROOT 6.40 writes for a tree with
every kind of leaf; tools/streamers.py makes this module anew. Data only.
"""

from __future__ import annotations

import base64
import zlib

__all__ = ["streamers"]


def streamers() -> bytes:
    """The list of a file's TStreamerInfo, as it lies after a key of 64 bytes."""
    return zlib.decompress(base64.b85decode(_PACKED))


_PACKED = (
    b"c-rk;d5|1c8SmX}$gw$rgoGnJMqm#JNq}$!7PD7$WRu10B!MJAdZu6Rbkfs3>F(KsfZ0R?a$`W`F2qvH5-EgIQL7M9ky"
    b"1;n@-P4JD*mvnvZO36{X+%6?|Wa*bkC8UCJUqrr?#fg>EG{t=X>9Ky&JXuUuv_p7A^8wxludWeFr|7k-(FBL3(M&bTv4"
    b"8gEoJorkw(}s~^Dk>`ca!QuB;I9E206!cCXbPlvO6dp%E|#Gj?KS#gAO@C%-FZw#eR_a&Yk*Ji<YL2HBWYsy&gIVrOR?"
    b"lZbGc`35GZ~4M>J)sK+&k8rYSLOoIiANWTzzS^H1wZQ7sy@H}&L^&p9=G-NjtpXB0M4A!v>(FuCZdob3g<;B%+2%$!I0"
    b"(1#rP%kAn>egDUiNa=kw5<!E`;OR(R?@M#>S=4TRKPgS5%A?Njkf=pdtM;NJO7_t8dhdl@cEaMu%DR}^kO!fn>QebQU1"
    b"Hq)SWoptwL>Y?HD4^->b%4H^tq})A3XD1Qph_%-obO2BKOShB?S%7y<A=MeUx&-ggj`5j0<T|65U3zl>&wXG@Ykd^9pC"
    b"zorgf$$+nrCL*pl=ddb_ML{ws6XjSv)H&N9Z8*tfxD<JRD~wSeg_$w@~z??^~{ul+*pp=?>y_h&XMDbJ}SYiPPoHanj8"
    b"IE*}RapDFDlN|GpD9HrE5j_703AW|zUTG2~^>*EDQEGg^+!xoic671zs*oEdMyX5B?_{=!)YExZ%ci3Z$?GSdp7JH7lL"
    b"t3NxAcav)jMKj8^kJXk+=dM!GEjGPG43(3Pcqz6)|L&BH$;&anHh^hEogO2w^z{-C|w<*_6raPEMMka$H0cqLZ>?x_$>"
    b"G_IwK?dgsj5qM`NyUj^uP_lO=7Vqatjt<dp5c=z*05mNSYp@a6>YF2j!!yiV|!#6`ZXXy}1lr8dI!<o=R$a+4I@F(^z9"
    b"xo$B5<YNqZlpyaR$eW^&%gq64>Loj%rw^N^FM}cJY)Cs+V1ck<e>BLW6wJsSBG5sXD1tyGpnY&ITQW`QCDF%|%<l8V?t"
    b"WsY$1Pz?KNvYEeyi?`%E5|G__XlwJOu>90LCsba*31+ImwVFq$YF_(a{SYL(bHJ#@HmmX+u@Jxmlm!XuTeGtwN~~30EA"
    b"okzWo{I-bf|Uan;8UPN4p{C0{dO%Nro)`k~`l*m@jZA=OT1=gH{h?$hbUCiMyak!N@q@x@bBZuvl7nF2+#JWXZ7_tZ`p"
    b"8If$qPY@**e8ntxwR~~-egiX&oP^?5SyooO(C97Q27|ZxA$_u76ApdymUnQVp%Zbo)rXe1$=IG<!Wb`U!>8+c?iU3lyc"
    b"HY%J@ZQ{B>gdWn%2b<51aLclMS;eKl#i-k7zzJcG1vXWE}4+7m>3FfQmpKd=fAx-QyM&)g(m6?w}K+)+<22-_-HL1F`Z"
    b"xwcnzol6NqBNM22>*grGC1xy|IL4Y?@c?t97}EWKC{I$F6}f1fxd@(d#dJL9g*>})6i^kx)EEJHeQ!!@e+#xR5Z4EZ>&"
    b";QF3qr2wKZ7+qx73R<QqSefjMac()EWbum}&Me#^gUt!;M}CM>yIe)S#o(pzZNcnI7IG^`HdC*pnU>ChwzRs6b7W9XW1"
    b"Kt`3b^r55PnIYzm=hwZpV4Y?YBmTny$&TQC_sbB)1$vU(($~nk+S8Y#xp4rEsONPK?QQYAPxZ0zJZpRR2dF+S5a!OltK"
    b"5TCxuz<ie#<TyBgh1n8FkpE&d@Cx8CIMNFVU1Y^gi{uSu<72!EWTPt1QFMXjuSo^ACvUj7Nju$s!$NRIwqybiLmGGqsn"
    b"jys=5Xgv7(CGIBh>Mg8<za!>6=`E_KIS$vKeI>bQ%f9YaoR*X@$@PZ@E&0Dvt#CC2C+8_J4f;mygAXa>~CkN~p;xVv^B"
    b"dXfTMPTwd4UtuOjOJjVR(iV52Q4*S8+YO#?qPG!Nid7VLZb+<(MW+R-a3;H&k?o=k=VbaR%6ObfxJ1Gt5?93az6qiWbh"
    b"A^%3I&@@z@$q;+Ohyq$WNx;`x!dgx4JIweA|3gaJe#qt(VbDJ_bOtU<eSt@8&EWwLvnnd_mQiM3g?mlx`(TW3?_ipX0$"
    b"+X?ChT;g^a<umT(rpk^{~DMOv(B#LRzl%Ly;h)1U&9KrT3sxqA#tuk@tC#>DHz+DF1{V;5IR~MINadBysOCC2<Nn#td>"
    b"-<>g$*4%Mlv1g{*vXQGi+$B>A2{Qc)s4zVK`g$&76hY_H?>kiK<IO$(6dc!&r&W~Sq2!AWm*u8G_7}fZ&CnQOqtS7xs&"
    b"QSh_jV&MBH~XSO;6cKvWb<f`MvT&uUpsYFQRlODMrmIH;GClwP#AtM$^#dI`8gWfN(WNUy1K0mp(NV0vH$^DfbGTuuw8"
    b"8_g_$0jxFZP;?AbWF_2aWbKSAr4M>#%d%D=OdJdgKY%0(eN5NGUgP3KfGD|1mfU`l-14a8%5}uBNC=!-(rnVbjZAtEHz"
    b"BI;RNPhZnf<Qqdh@A3nZsQce(SNw&-U}+(9L6v1e3N@7(VX47Z^J%BgiX^aolYl1Eqg9OaHV6(#NuDSTjW$Z?WP2sgdD"
    b"IW_=^wzN5C|G~dK$lJpl>inhsB&?FG4AOe(74=AG}ETh{<Mk}H+iWG#yS}(-WmJznmYa7|9!Q`W{@BDZNMm?3}w18{P$"
    b"%WK34v8tmNp7oI#@R_Ync7(19^$}|r9Fg!eSFAtA!D{_yE^s8zoj&xeS<V{c2pC!y?X8RFRod_x#w0k+n`z@Ev%4T+<*"
    b"~kz-DT|vUnFfJ=~|pqgwlPLyU#xAeYPQ*n4jOu43N)&3gGkWq57L7w&o%e+;+XrTDfVuI9U(`5xrF{Q*t`z0Z>~9&2bX"
    b"9T^07Sv({5b3Nni{z|<cMnhxLrct79kGe2;%oh^WA?ua@FOM5`9}Ps&uvdkp(Gjj<33W~MQ8g<8?1Kz@H^Cku*d6gQ+6"
    b"PgUEi$b<(aI97OXJ~W2S`||W}i+K69(fVBahw_U`{(vwLmpgl|9z?mpl(TKwPL{)J_|jVBOaQOQgPs8VIQIXIIi9)15p"
    b"VJVcxh)K*%f6^-+w6^%+ABM0t)V-l`oy!+CH$pX5G$Xs9RhjUD21k2bKz&0X{PoRntBNYf~l#s5hsd@KtVWzgc9A5EVV"
    b"d`FjV*4lq-%P+N)Lc+C30Jf&a0Kx6lf&T`o>A_fppAKkdOxOM4>MM@?$aA@)+WpI)dWmu1rB}K#0zZYacfS>;yz|^JF%"
    b"Fmt&LVDf-gJfq^qhs&A>G9z0BwcF*-<$hU!lPuWyFYaZdst-~wHAcJRvj)xgy1YeaQHu-4;}Rp!PSK3a-dU#~tWBH-Ni"
    b"<Ak1M=>2LvMs5C^%lXegCxRW;W{(s6VXlPVN8rU;|5(7_WC|U-BGKo@NFpq=aWMR2m-B+@f<YSu11xhdj7GGuqlObR%<"
    b"RdCg<e~a8M*GdI5SlQ!VDevVXDz9vWe^Qjfg(UMAba%I1%ly+kcUAUw52muVK*akY8VjGehucuFga!2lm8W3wn<dJF{v"
    b"0QgX9tvJ0Y2I8O+jOBl95+%ZIFDkUrv1?uDdbhEB%ej+b*Lwa3Ft2?jp2=L{4MK^FgGp&7U?{h1;xbp~){vK#F`a8fqX"
    b"P<h`R&9NEHa)ZhzcvU%`Z>=k(hN3DJaK+A^gtH@t{AHGDXcoQwNX#{77ni-9oe;Ghq>lv%fZ~;$y-&%MyWznF~ga4NaR"
    b"JC!%~xxAi*|+u6hogVGm-a&_VWXhEiqQ?s}{AP~f5HfL+_=N|SACsx>+1#2JPiVtGa<3u05RZIB$CODeqw)0zNiTZPB4"
    b"KpzebP{JKP+15n~lv=M`Sv6SzByf3KYD-nBMtM+@h}v_rxYI5e3j4n2ao-o3*>A%@z^5EjRsh%*oa{<~{0<}ki;(|D$g"
    b"jp*oc3vI^x4jyz>C;#9)gjstoTCc2iv&#14QqQTfXeNNQevy1ODXxk_DEJgPFjEUKP$G=%NFkk#kE<&;j>uB4Z-E9aNe"
    b"mErv^9K(+;)0tY-#&*A)zJ*nbksBn(N{A<+t$<vKO+On=|H}K@1s!@=?jVmGNR-_OXM`~N21pRTIk$I5N?<MrzRpn6-O"
    b"FxQgATmjYCj|)*xs2(aMd_IRp>tdc!xfGT{g`njA-Y#3jb<i{;PEt3^E&5@R~qGvK5g-;Yj5J5@fhcfqbF$2sJA}u_;W"
    b"_fw93Z%S(EU|lSXs!sLY?SGGA?^%n@zbg1^4O%6x*A`Opcf%v)KS0UbFrq|D~4#m(R+*Jgr>{;yb_uQyWXkoLQa=Vn=*"
    b"&#*clJ3-ZXki|JpNBd_;orwm>%}_|L(dH>M<)fRl4ZnTT`%wF6lXETanU6L<*VFO~R_Bi!sdGSEdfy#mtj?!coe!U&>b"
    b"#A`S)wC%hSZs0X?-&UlIycs0!?*@hPBq`KK|<ub%&_w-tT+UA!-i3sftLy_U|`e`1}7WA}4%BL}OKIFW0SzSbm^cKl#!"
    b"3Q3r7OQJzTuT%(Ef3D#thG-=irj2C4_<o<rwwqf863Or*(y~rYI6qYNW7rlM`^;rMMzUsAlY9#PCxG6uSrkojVN)>GRI"
    b"Wy9x_Dto;t17!f&-#G}<8E5{Dsr~&*PZs>@#fE;sMn@h=xL9$r#(n*S{ZFq6gGSaE<ee$yX`pvR{dFA-;FM$?y6nox7^"
    b"{{t{QQdTa|37-?Xn$%{FOjKJvy(r2Z9yZQ6Z?*yaZ6t?b|uvepu;<WO@K8{4vK-DqsYEo)ifo%NO*l^26*AKCNbe_6(F"
    b"^E3b1Xi-)Z`c@BK8b(r%u(aH$=EDnBYV^HOEz_W~Omvw>)xyPa9qfu?eCcv|fowCCmigtovD(u5XC<`OKa$W+iwbRC<+"
    b"=CVx$B7Xk=B=#%vztXmf7t0-$$A?TccDcs2BdSdT!si?in<xsRvfpvaMh;LC$%G)$|xaK2-aX$z1a~9T!sgX<b!HO`%S"
    b"d*Hw#7IjUax43|-eylWfba%WGP(!;<Wmbv}r)EdtJ;i~KX%+ey3IbyjszI1nZ+>zdyN)uSJQ}DRPJBc;TWnCiZQ}K1mn"
    b"IZi7o$8fsV$c_Vr|vrSrrgK2r3d_uZTOAC%J6ACEct5535yg?f!_ZyU0ho<283MiYM)|AxHhB*L&QrQBA%~j?d5+e@U^"
    b"GpR?Y}_a7H-TC?kAeX}iIi<8|>m@{l_&y*{_(7%OO3WN|;t7i6IcjDL~=qm$Y_aeu?5OWo>?FRrWOk^=ICoa+R-MTVw3"
    b"6_0N=VYD13`=X8&90iqsEU{5*#}^oe&8;Py7Ly>mZ-@UVqOxHAOHry1V}G{?Y}F9HTk>+UAA1=+DRRt|2y|~$2Jv%a(!"
    b")g%J*i!**IjmFihtLW3h(Yo)qnFh1x+{Lz5}BEb<rc%tzEnJDsfv%(EDCfTHg<F1y_{sr;m^C74`YX-bIV>jGYI5Oiue"
    b"B0&}1p"
)
